import { existsSync, openSync, closeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/temporal/process-logger.ts';

// Linux' device whose every write says that the disk is full.
test.runIf(existsSync('/dev/full'))('a log on a full disk ends nothing and blocks nothing', () => {
  const file = openSync('/dev/full', 'w');
  try {
    const logger = createLogger('info', file);
    for (let line = 0; line < 3; line += 1) logger.info('a line');
    expect(() => logger.fatal('the last line')).not.toThrow();
  } finally {
    closeSync(file);
  }
});
