import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { problemsOfWorker } from '../../src/config/check/check-for-worker.ts';
import { BUILT_IN_MODELS } from '../../src/models/catalogue/built-in-models.ts';
import { load } from './support/written-configuration.ts';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
/** Its YAML is for Kubernetes. */
const OTHER_YAML = 'deploy.md';

const blocks = readdirSync(DOCS)
  .filter((name) => name.endsWith('.md') && name !== OTHER_YAML)
  .flatMap((name) => {
    const found = readFileSync(`${DOCS}${name}`, 'utf8').matchAll(/^```yaml\n([^]*?)^```/gmu);
    return Array.from(found, ([, text = ''], index) => ({ name, index: index + 1, text }));
  });

/** Names what these files leave to the environment. */
const environment = { TICKETS_KEY: 'x' };

test.each(blocks.map(({ name, index, text }) => [`${name} (${index})`, text]))(
  'the holdfast.yaml of docs/%s is accepted',
  async (_, text) => {
    const configuration = await load(text, { environment });
    expect(problemsOfWorker({ ...configuration, modules: [] })).toEqual([]);
  },
);

test('the policy of docs/compaction.md fits every built-in model with a window from 32,000 tokens up', async () => {
  const { text = '' } = blocks.find(({ name }) => name === 'compaction.md') ?? {};
  // One model for each triple of limits: nothing else of it counts.
  const models = new Map(
    [...BUILT_IN_MODELS].map(([model, { limits }]) => [JSON.stringify(limits), { model, limits }]),
  );
  const roomy = [...models.values()].filter(({ limits }) => limits.window >= 32_000).map(({ model }) => model);
  expect(roomy.length).toBeGreaterThan(100);
  for (const model of [...roomy, 'simulator/sim-32k', 'simulator/sim-1000k', 'unknown/model']) {
    const { agents } = await load(text, { environment: { HOLDFAST_MODEL: model } });
    expect(agents).toContainEqual(expect.objectContaining({ name: 'support', model }));
  }
});
