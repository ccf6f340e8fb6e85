import { counted } from '../text/numbers.ts';
import type { PastView } from '../api/types.ts';
import { differenceOf } from './view-difference.ts';
import type { ComparedMessage } from './view-difference.ts';
import { ViewMessageRow } from './view-message.tsx';

interface ViewChangesProps {
  readonly before: PastView;
  readonly after: PastView;
}

/** What a call saw that the one before it did not see, runs of equal messages folded. */
export function ViewChanges({ before, after }: ViewChangesProps) {
  const { messages, isSystemChanged, areToolsChanged } = differenceOf(before.view, after.view);
  return (
    <>
      {isSystemChanged && <p className="waiting">The instructions changed.</p>}
      {areToolsChanged && <p className="waiting">The tools changed.</p>}
      {runsOf(messages).map(({ change, run }, place) =>
        change === 'same' ? (
          <details className="fold same" key={place}>
            <summary>{counted(run.length, 'equal message')}</summary>
            {run.map((message, at) => (
              <ViewMessageRow key={at} message={message} />
            ))}
          </details>
        ) : (
          run.map((message, at) => <ViewMessageRow key={`${place} ${at}`} message={message} change={change} />)
        ),
      )}
    </>
  );
}

interface Run {
  readonly change: ComparedMessage['change'];
  readonly run: ComparedMessage['message'][];
}

function runsOf(messages: readonly ComparedMessage[]): Run[] {
  const runs: Run[] = [];
  for (const { change, message } of messages) {
    const last = runs.at(-1);
    if (last?.change === change) last.run.push(message);
    else runs.push({ change, run: [message] });
  }
  return runs;
}
