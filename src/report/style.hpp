// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow::report {

/// Light and dark, one column on a phone, black on white on paper.
inline constexpr const char* style = R"(
:root{color-scheme:light dark;--ink:#1d2330;--soft:#596274;--paper:#fff;--edge:#d9dee7;--good:#1f7a52;--bad:#b5402f}
@media(prefers-color-scheme:dark){
:root{--ink:#e6e9ef;--soft:#a3acbb;--paper:#14181f;--edge:#333b49;--good:#5cc695;--bad:#f08a7a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.5rem 1rem 3rem;
font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{margin:0;font-size:2.2rem;line-height:1.2}
h2{margin:0 0 .75rem;font-size:1.3rem}
p{margin:.5rem 0;overflow-wrap:anywhere}
section{margin-top:2rem;padding-top:1.25rem;border-top:1px solid var(--edge)}
.lead{font-size:1.15rem}
.note{color:var(--soft)}
.good{color:var(--good)}
.bad{color:var(--bad)}
.warning{padding:.5rem .75rem;border:1px solid var(--bad);border-left-width:5px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1rem 2rem;align-items:start}
figure{margin:0}
svg{display:block;max-width:100%;height:auto;overflow:visible}
svg [fill="#7a808a"]{fill:var(--soft)}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) minmax(0,1fr);gap:.2rem 1rem;margin:.75rem 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
ol{padding-left:1.5rem}
li{margin:.5rem 0;overflow-wrap:anywhere}
table{margin:.75rem 0;width:100%;max-width:44rem;border-collapse:collapse}
caption{padding-bottom:.3rem;text-align:left;color:var(--soft)}
th,td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--edge);
text-align:left;font-weight:inherit;overflow-wrap:anywhere}
thead th{color:var(--soft)}
td:nth-child(2){white-space:nowrap;font-variant-numeric:tabular-nums}
td:nth-child(3){width:45%;white-space:nowrap}
.bar{display:inline-block;height:.7rem;margin-right:.5rem;background:#3b82c4}
.taken{font-weight:600}
.one{display:grid;grid-template-columns:minmax(0,37rem) minmax(0,1fr);gap:1rem 2rem;align-items:start}
.one svg{width:100%;cursor:crosshair}
.one figure:focus-visible{outline:2px solid #3b82c4;outline-offset:2px}
.aside label{display:inline-block;margin-right:1rem;white-space:nowrap}
.aside output{display:block;margin-top:.5rem;white-space:pre-line;font-variant-numeric:tabular-nums}
.mark{stroke:var(--ink);fill:var(--ink);pointer-events:none}
pre{margin:.5rem 0;padding:.75rem;border:1px solid var(--edge);white-space:pre-wrap;overflow-wrap:anywhere}
footer{margin-top:2rem;color:var(--soft);font-size:.9rem}
@media(max-width:52rem){.one{display:block}.aside{display:flow-root}.aside output{min-height:4.5em}}
@media(max-width:32rem){
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}td:nth-child(3){width:35%}}
@media print{
:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--edge:#bbb;--good:#14603e;--bad:#8f2a1c}
body{max-width:none;padding:0;font-size:11pt}figure[hidden]{display:block}.aside,.mark{display:none}
figure,li,tr,header{break-inside:avoid}h2{break-after:avoid}
.bar{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)";

} // namespace furrow::report
