import { expect, test } from 'vitest';
import { isDriverFault } from '../../src/worker/driver-fault.ts';

function thrown(message: string, ...frames: string[]): TypeError {
  const error = new TypeError(message);
  error.stack = [`TypeError: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return error;
}

test("only the driver's write to a closed connection ends a worker in order", () => {
  const message = "Cannot read properties of null (reading 'write')";
  const immediate = 'process.processImmediate (node:internal/timers:483:21)';
  const at = 'Immediate.nextWrite (file:///app/node_modules/postgres/src/connection.js:255:22)';
  expect(isDriverFault(thrown(message, at, immediate))).toBe(true);
  expect(isDriverFault(thrown(message, at.replace('src', 'cjs/src'), immediate))).toBe(true);
  expect(isDriverFault(thrown(message, 'Immediate.nextWrite (file:///app/dist/mine.js:1:1)', immediate))).toBe(false);
  expect(isDriverFault(thrown(message.replace('write', 'end'), at, immediate))).toBe(false);
  expect(isDriverFault(new Error(message))).toBe(false);
});
