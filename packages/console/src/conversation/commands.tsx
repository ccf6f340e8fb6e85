import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import { send } from '../api/request.ts';
import type { Conversation } from '../api/types.ts';
import { Failure } from '../text/failure.tsx';
import { isOpen } from '../text/turn-state.ts';

/** What can be raised, as in `limits` of the configuration. */
const LIMITS = ['steps', 'toolCalls', 'inputTokens', 'outputTokens', 'cost', 'wallTime'];

/** Compacts the context, and goes on with a turn that ended before it was done. */
export function Commands({ conversation }: { readonly conversation: Conversation }) {
  const { conversationId, turn } = conversation;
  const isUnfinished = turn !== null && !isOpen(turn) && turn.outcome !== 'completed';
  return (
    <section>
      <h2>Commands</h2>
      <Compact conversationId={conversationId} />
      {isUnfinished && <Resume conversationId={conversationId} />}
    </section>
  );
}

function Compact({ conversationId }: { readonly conversationId: string }) {
  const [focus, setFocus] = useState('');
  const compact = useMutation({
    mutationFn: () =>
      send('/conversations/{conversationId}/compact', { conversationId, ...(focus !== '' && { focus }) }),
  });
  return (
    <Command label="Compact" isPending={compact.isPending} error={compact.error} submit={() => compact.mutate()}>
      <input
        value={focus}
        onChange={(event) => setFocus(event.target.value)}
        placeholder="Focus, or nothing"
        aria-label="Focus of the summary"
      />
    </Command>
  );
}

function Resume({ conversationId }: { readonly conversationId: string }) {
  const [limit, setLimit] = useState('');
  const [by, setBy] = useState('');
  const resume = useMutation({
    mutationFn: () => {
      const raise = limit === '' ? {} : { raise: { [limit]: Number(by) } };
      return send('/conversations/{conversationId}/resume', { conversationId, ...raise });
    },
  });
  return (
    <Command label="Resume" isPending={resume.isPending} error={resume.error} submit={() => resume.mutate()}>
      <select value={limit} onChange={(event) => setLimit(event.target.value)} aria-label="Limit to raise">
        <option value="">raise nothing</option>
        {LIMITS.map((each) => (
          <option key={each} value={each}>
            raise {each}
          </option>
        ))}
      </select>
      {limit !== '' && (
        <input
          type="number"
          min="0"
          step="any"
          required
          value={by}
          onChange={(event) => setBy(event.target.value)}
          placeholder="by"
          aria-label="Raise by"
        />
      )}
    </Command>
  );
}

interface CommandProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly submit: () => void;
  readonly children: ReactNode;
}

function Command({ label, isPending, error, submit, children }: CommandProps) {
  const take = (event: FormEvent): void => {
    event.preventDefault();
    submit();
  };
  return (
    <form className="row command" onSubmit={take}>
      {children}
      <button type="submit" disabled={isPending}>
        {label}
      </button>
      {error !== null && <Failure error={error} />}
    </form>
  );
}
