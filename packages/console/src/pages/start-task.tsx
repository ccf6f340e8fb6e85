import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { send } from '../api/request.ts';
import { AgentInput } from '../text/agent-input.tsx';
import { Failure } from '../text/failure.tsx';

/** Gives an agent a task in a new conversation, and opens it. */
export function StartTask() {
  const [task, setTask] = useState('');
  const [agent, setAgent] = useState('');
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => send('/conversations', { task, ...(agent !== '' && { agent }) }),
    onSuccess: ({ conversationId }) => navigate({ to: '/conversations/$conversationId', params: { conversationId } }),
  });
  const canStart = task.trim() !== '' && !start.isPending;
  const submit = (): void => {
    if (canStart) start.mutate();
  };
  return (
    <form
      className="start"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        value={task}
        onChange={(event) => setTask(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit()}
        rows={2}
        placeholder="A task for an agent"
        aria-label="Task"
      />
      <div className="row">
        <button type="submit" className="main" disabled={!canStart}>
          Start
        </button>
        <AgentInput label="Agent of the task" placeholder="agent: default" value={agent} change={setAgent} />
        <span className="quiet hint">Ctrl+Enter starts</span>
      </div>
      {start.error !== null && <Failure error={start.error} />}
    </form>
  );
}
