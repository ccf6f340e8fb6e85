import type { Entry, ToolCall } from '../api/types.ts';
import { count } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';
import { written } from '../text/tool-arguments.ts';
import { Parts } from './part.tsx';

interface ToolCallProps {
  readonly call: ToolCall;
  readonly result: Entry | undefined;
  /** Shown instead of "running" while there is no result. */
  readonly waits: string | null;
  /** Shows the original of an entry. */
  readonly open: (entryId: string) => void;
}

/** A tool call with its arguments, and its result folded. */
export function ToolCallCard({ call, result, waits, open }: ToolCallProps) {
  const state = result === undefined ? (waits ?? 'running') : result.isError ? 'failed' : 'done';
  const tone = { failed: 'bad', done: 'quiet', running: 'busy' }[state] ?? 'waiting';
  return (
    <details className="fold tool">
      <summary>
        <code>{printable(call.name)}</code> <span className="arguments">{printable(call.arguments)}</span>
        <span className={`state ${tone}`}>{state}</span>
      </summary>
      <pre tabIndex={0}>{printable(written(call.arguments))}</pre>
      {result !== undefined && <Result result={result} open={open} />}
    </details>
  );
}

function Result({ result, open }: { readonly result: Entry; readonly open: (entryId: string) => void }) {
  return (
    <div className="result" id={`entry-${result.sequence}`} tabIndex={0} role="group" aria-label="Result">
      <Parts content={result.content} />
      {result.originalBytes !== null && (
        <p className="quiet">
          Shortened here.{' '}
          <button type="button" className="link" onClick={() => open(result.entryId)}>
            Open the original of {count(result.originalBytes)} bytes
          </button>
        </p>
      )}
      {result.lateResults.map((late) => (
        <details className="fold" key={`${late.attempt} ${late.receivedAt}`}>
          <summary>Attempt {late.attempt} reported late; the model does not see it</summary>
          <Parts content={late.content} />
        </details>
      ))}
    </div>
  );
}
