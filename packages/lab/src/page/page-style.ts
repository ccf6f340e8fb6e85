/** The page's style: light and dark, from a phone's width up. Series colours are told apart without red and green beside each other. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2127; --soft: #5d6773; --line: #d8dde3; --paper: #ffffff; --panel: #f5f7f9;
  --p0: #2563c9; --p1: #d9740b; --p2: #1b8f86; --p3: #b1379c; --p4: #7a5c00; --p5: #5b6472; --p6: #c2304b; --p7: #4b3fb5;
  --fixed: #8a94a1; --summary: #d9740b; --user: #2563c9; --assistant: #1b8f86; --results: #9db8d9; --notes: #b1379c; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa4b0; --line: #343b44; --paper: #14181d; --panel: #1c2229;
    --p0: #7aa7f0; --p1: #f0a254; --p2: #5cc4ba; --p3: #df86cf; --p4: #d1b24a; --p5: #a9b2bf; --p6: #f08698; --p7: #a79ff2;
    --fixed: #6f7a87; --summary: #f0a254; --user: #7aa7f0; --assistant: #5cc4ba; --results: #4d6888; --notes: #df86cf; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1200px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 8px; } h3 { font-size: 16px; margin: 24px 0 6px; overflow-wrap: anywhere; }
p { margin: 6px 0; } .soft { color: var(--soft); } .bad { color: var(--bad); font-weight: 600; }
.scroll { overflow-x: auto; margin: 8px 0; } table { border-collapse: collapse; font-size: 14px; white-space: nowrap; }
th, td { padding: 5px 12px 5px 0; text-align: left; border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 500; vertical-align: bottom; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; margin: 4px 0 8px; padding: 0; list-style: none; }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 6px; vertical-align: -1px; }
.legend i.dashed { height: 0; border-top: 2px dashed var(--soft); border-radius: 0; vertical-align: 4px; }
.chart { display: grid; grid-template-columns: 52px 1fr; font-size: 12px; color: var(--soft); margin: 4px 0 2px; }
.chart .scale { position: relative; } .chart .scale span { position: absolute; right: 8px; transform: translateY(-50%); }
.chart svg { display: block; width: 100%; background: var(--panel); overflow: hidden; } .chart .steps { grid-column: 2; display: flex; justify-content: space-between; padding-top: 2px; }
.fill { height: 240px; } .lane { height: 150px; }
svg line.grid { stroke: var(--line); } svg line.limit { stroke: var(--soft); stroke-dasharray: 4 4; } svg line.pass { stroke: var(--ink); stroke-dasharray: 2 3; } svg line.recorded { stroke: var(--bad); }
svg polyline { fill: none; stroke-width: 1.75; } svg * { vector-effect: non-scaling-stroke; }
details { border: 1px solid var(--line); border-radius: 6px; padding: 8px 12px; margin: 10px 0; } summary { cursor: pointer; }
summary b { margin-right: 8px; }
`;
