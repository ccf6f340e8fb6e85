import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useSend } from '../api/request.ts';
import type { Turn } from '../api/types.ts';
import { CommandForm } from './command-form.tsx';

/** What can be raised, as in `limits` of the configuration: its name for a person, the end of its reason, and a usual raise. */
const LIMITS: Readonly<Record<string, readonly [name: string, reason: string, usual: number]>> = {
  steps: ['steps', 'step_limit', 100],
  toolCalls: ['tool calls', 'tool_call_limit', 100],
  inputTokens: ['input tokens', 'input_token_limit', 1_000_000],
  outputTokens: ['output tokens', 'output_token_limit', 50_000],
  cost: ['dollars', 'cost_limit', 2],
  wallTime: ['seconds of work', 'wall_time_limit', 600],
};

function isUnfinished({ outcome, reason, commandOnly, tookMessages }: Turn): boolean {
  if (commandOnly && !tookMessages) return false;
  return outcome !== 'completed' || reason === 'answer_cut';
}

interface ResumeProps {
  readonly conversationId: string;
  /** It has ended. */
  readonly turn: Turn;
}

/** Goes on with the task of a turn that ended before it was done, and raises the limit that it reached. */
export function Resume({ conversationId, turn }: ResumeProps) {
  const reached = Object.keys(LIMITS).find((each) => turn.reason?.endsWith(LIMITS[each]?.[1] ?? '')) ?? '';
  const [limit, setLimit] = useState(reached);
  const [by, setBy] = useState(String(LIMITS[reached]?.[2] ?? ''));
  const send = useSend();
  const resume = useMutation({
    mutationFn: () => {
      const raise = limit === '' ? {} : { raise: { [limit]: Number(by) } };
      return send('/conversations/{conversationId}/resume', { conversationId, ...raise });
    },
  });
  if (!isUnfinished(turn)) return null;
  return (
    <CommandForm label="Resume" isPending={resume.isPending} error={resume.error} submit={() => resume.mutate()}>
      <select
        value={limit}
        onChange={({ target }) => {
          setLimit(target.value);
          setBy(String(LIMITS[target.value]?.[2] ?? ''));
        }}
        aria-label="Limit to raise"
      >
        <option value="">raise nothing</option>
        {Object.entries(LIMITS).map(([each, [name]]) => (
          <option key={each} value={each}>
            raise {name}
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
          aria-label="Raise by"
        />
      )}
    </CommandForm>
  );
}
