import { Parts } from '../conversation/part.tsx';
import { printable } from '../text/printable.ts';
import type { ViewMessage } from './view-difference.ts';

const ORIGINS = { user: 'User', summary: 'Summary', note: 'Note', runtime: 'Runtime' } as const;

interface ViewMessageRowProps {
  readonly message: ViewMessage;
  readonly change?: 'added' | 'removed';
}

/** One message as the model saw it. */
export function ViewMessageRow({ message, change }: ViewMessageRowProps) {
  const mark = change === undefined ? '' : change === 'added' ? 'New: ' : 'Gone: ';
  if (message.role === 'tool_results') {
    return (
      <article className={`entry ${change ?? ''}`}>
        {message.results.map(({ id, name, content }) => (
          <details className="fold" key={id}>
            <summary>
              {mark}Result of <code>{printable(name)}</code>
            </summary>
            <Parts content={content} />
          </details>
        ))}
      </article>
    );
  }
  return (
    <article className={`entry ${message.role} ${change ?? ''}`}>
      <header className="quiet">
        {mark}
        {message.role === 'user' ? ORIGINS[message.origin] : 'Agent'}
      </header>
      <Parts content={message.content} />
      {message.content.map((part) =>
        part.type === 'tool_call' ? (
          <pre key={part.index}>
            {printable(part.name)} {printable(part.arguments)}
          </pre>
        ) : null,
      )}
    </article>
  );
}
