import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { send } from '../api/request.ts';
import type { FoundPassage } from '../api/types.ts';
import { Original } from '../conversation/original.tsx';
import { AgentInput } from '../text/agent-input.tsx';
import { Failure } from '../text/failure.tsx';
import { densestPlace, wordsOf } from '../text/found-words.ts';
import { counted, moment } from '../text/numbers.ts';
import { printable } from '../text/printable.ts';

export interface SearchWords {
  readonly q?: string;
  readonly agent?: string;
  /** Only this conversation. */
  readonly conversation?: string;
}

const MOST = 30;

/** Everything that an agent, or one conversation, ever held. */
export function SearchPage({ q = '', agent = 'default', conversation }: SearchWords) {
  const navigate = useNavigate();
  const [words, setWords] = useState(q);
  const [name, setName] = useState(agent);
  const [original, setOriginal] = useState<string | null>(null);
  const where = conversation === undefined ? { agent } : { conversationId: conversation };
  const { data, error, isFetching } = useQuery({
    queryKey: ['search', q, where],
    queryFn: () => send('/search', { query: q, limit: MOST, ...where }),
    enabled: q !== '',
  });
  const of = conversation === undefined ? {} : { conversation };
  return (
    <section className="page">
      <h1>Search</h1>
      <form
        className="row filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: '/search', search: { q: words.trim(), agent: name || 'default', ...of } });
        }}
      >
        <input
          className="wide-input"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          placeholder="Words that were said, read or summarized"
          aria-label="Words"
        />
        {conversation === undefined && (
          <label>
            in conversations of <AgentInput label="Agent" placeholder="default" value={name} change={setName} />
          </label>
        )}
        <button type="submit" className="main" disabled={words.trim() === ''}>
          Search
        </button>
      </form>
      {conversation !== undefined && (
        <p className="quiet">
          In one conversation.{' '}
          <Link to="/search" search={{ q, agent }}>
            Search all of {printable(agent)}
          </Link>
        </p>
      )}
      {error !== null && <Failure error={error} />}
      {isFetching && <p className="quiet">Searches…</p>}
      {data !== undefined && (
        <Found passages={data.items} agent={conversation === undefined ? agent : null} open={setOriginal} />
      )}
      {original !== null && <Original key={original} entryId={original} close={() => setOriginal(null)} />}
    </section>
  );
}

interface FoundProps {
  readonly passages: readonly FoundPassage[];
  /** In whose conversations; `null`: in one conversation. */
  readonly agent: string | null;
  readonly open: (entryId: string) => void;
}

function Found({ passages, agent, open }: FoundProps) {
  return (
    <>
      <p className="quiet">
        {counted(passages.length, 'passage')} found{agent !== null && ` in conversations of ${printable(agent)}`}.
      </p>
      <ul className="passages">
        {passages.map((passage) => (
          <Passage key={`${passage.entryId} ${passage.offset}`} passage={passage} open={open} />
        ))}
      </ul>
    </>
  );
}

interface PassageProps {
  readonly passage: FoundPassage;
  readonly open: (entryId: string) => void;
}

function Passage({ passage, open }: PassageProps) {
  const { conversationId, entryId, kind, sequence, createdAt, toolName, text, forms, onActiveBranch } = passage;
  return (
    <li>
      <p className="quiet facts">
        <Link to="/conversations/$conversationId" params={{ conversationId }}>
          {conversationId.slice(-8)}
        </Link>
        <span>
          {kind.replaceAll('_', ' ')} {sequence}
          {toolName !== null && ` of ${printable(toolName)}`}
        </span>
        <time dateTime={createdAt}>{moment(createdAt)}</time>
        {!onActiveBranch && <span>on another branch</span>}
        <button type="button" className="link" onClick={() => open(entryId)}>
          Open the original
        </button>
      </p>
      <p className={kind === 'tool_result' ? 'text passage code' : 'text passage'}>
        <Marked text={text} forms={forms} />
      </p>
    </li>
  );
}

const CHARACTERS_BEFORE = 160;

/** A text whose beginning would fill the space, from a line before the place on. */
function fromNear(text: string, place: number): string {
  const wanted = place - CHARACTERS_BEFORE;
  if (wanted <= CHARACTERS_BEFORE) return text;
  const line = text.lastIndexOf('\n', wanted) + 1;
  return `… ${text.slice(wanted - line < CHARACTERS_BEFORE ? line : wanted)}`;
}

/** The text with the words that were found set off. */
function Marked({ text, forms }: { readonly text: string; readonly forms: readonly string[] }) {
  if (forms.length === 0) return printable(text);
  const found = new Set(forms);
  const words = wordsOf(forms);
  return fromNear(text, densestPlace(text, words))
    .split(words)
    .map((piece, place) =>
      found.has(piece.toLowerCase()) ? <mark key={place}>{printable(piece)}</mark> : printable(piece),
    );
}
