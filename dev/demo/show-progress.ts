import { createPainter } from '../../src/cli/follow/painter.ts';
import type { Output } from '../../src/cli/output.ts';
import { demoItemLines, demoRegion } from './demo-screen.ts';
import type { Applied, DemoItem, DemoProgress } from './progress.ts';

const REPAINT_MILLISECONDS = 100;

/** Shows the demo while it goes on: bars on a terminal, lines in a pipe. */
export interface DemoDisplay {
  show(applied: Applied): void;
  close(): void;
}

export function openDemoDisplay(output: Output): DemoDisplay {
  const lines = (items: readonly DemoItem[], progress: DemoProgress): string[] =>
    items.flatMap((item) =>
      demoItemLines(item, progress, { columns: output.columns, style: output.style, now: Date.now() }),
    );
  if (!output.repaints) {
    return { show: ({ progress, items }) => output.lines(lines(items, progress)), close: () => undefined };
  }
  const painter = createPainter(output);
  let current: DemoProgress | null = null;
  const paint = (): void => {
    if (current === null) return;
    painter.paint(demoRegion(current, { columns: output.columns ?? 80, style: output.style, now: Date.now() }));
  };
  const timer = setInterval(paint, REPAINT_MILLISECONDS);
  // A process that ends without close must not leave the terminal without a cursor.
  const restore = (): void => painter.close();
  process.once('exit', restore);
  return {
    show({ progress, items }) {
      current = progress;
      const shown = lines(items, progress);
      if (shown.length > 0) painter.commit(shown);
    },
    close() {
      clearInterval(timer);
      process.off('exit', restore);
      painter.close();
    },
  };
}
