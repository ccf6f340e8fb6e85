import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';

/** Asks a person; its result tries to act on whoever shows it. */
export const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys a version.',
  input: z.object({ version: z.string() }),
  effect: 'once',
  approval: () => true,
  run: ({ version }) =>
    Promise.resolve({ content: `deployed ${version} \u001B[31mred \u202Ertl <img src=x onerror=alert(1)>` }),
});

/** Long, and another text for each page. */
export const readLog = defineTool({
  name: 'read_log',
  description: 'Reads a page of the log.',
  input: z.object({ page: z.number() }),
  effect: 'none',
  run: ({ page: number }) =>
    Promise.resolve({
      content: Array.from(
        { length: 300 },
        (_, line) => `${number}:${line} service-${line} answered in ${line} ms`,
      ).join('\n'),
    }),
});

export const RED_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** A name that tries to act on whoever shows it, and how a page shows it. */
export const HOSTILE = 'bird <img src=x onerror="hacked = true">\u001B[2J\u202Etxt';
export const INERT = 'bird <img src=x onerror="hacked = true">␛[2J⟨U+202E⟩txt';

export const TEMPORAL = { name: 'temporal', url: 'http://127.0.0.1:8233/workflows' } as const;
