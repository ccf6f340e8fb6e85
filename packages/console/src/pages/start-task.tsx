import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { withFiles } from '../api/attachments.ts';
import { useConfigured } from '../api/configured.ts';
import { useSend } from '../api/request.ts';
import { AgentInput } from '../text/agent-input.tsx';
import { Attach } from '../text/attach.tsx';
import { Failure } from '../text/failure.tsx';

/** Gives an agent a task in a new conversation, and opens it. */
export function StartTask() {
  const [task, setTask] = useState('');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [agent, setAgent] = useState('');
  const navigate = useNavigate();
  const send = useSend(task);
  const start = useMutation({
    mutationFn: async () =>
      send('/conversations', { task: await withFiles(task, files), ...(agent !== '' && { agent }) }),
    onSuccess: ({ conversationId }) => navigate({ to: '/conversations/$conversationId', params: { conversationId } }),
  });
  const canStart = (task.trim() !== '' || files.length > 0) && !start.isPending;
  const submit = (): void => {
    if (canStart) start.mutate();
  };
  return (
    <form
      className="start"
      onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit()}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        value={task}
        onChange={(event) => setTask(event.target.value)}
        onPaste={(event) => setFiles([...files, ...event.clipboardData.files])}
        rows={2}
        placeholder="A task for an agent"
        aria-label="Task"
      />
      <div className="row">
        <button type="submit" className="main" disabled={!canStart}>
          Start
        </button>
        <AgentInput label="Agent of the task" placeholder="agent: default" value={agent} change={setAgent} />
        <Attach files={files} change={setFiles} />
        <span className="quiet hint">Ctrl+Enter starts</span>
      </div>
      <Examples agent={agent || 'default'} choose={setTask} />
      {start.error !== null && <Failure error={start.error} />}
    </form>
  );
}

/** Pages of a long file: more than the window holds. */
const PAGES = Array.from({ length: 8 }, (_, page) => {
  const input = { path: 'package-lock.json', offset: page * 330 + 1 };
  return `Call read_file with ${JSON.stringify(input)}`;
});

/** A file that is read once, and one that is read until the context is compacted. */
const EXAMPLES = [
  ['Read package.json and say what is in it', 'Read package.json and say what is in it'],
  ['read a file that is longer than the window', [...PAGES, 'Say done'].join('\n')],
] as const;

/** What to say to the simulator, which answers where no model key is set. */
function Examples({ agent, choose }: { readonly agent: string; readonly choose: (task: string) => void }) {
  const model = useConfigured('agents')?.find(({ name }) => name === agent)?.model ?? '';
  if (!model.startsWith('simulator/')) return null;
  return (
    <p className="quiet">
      A simulator answers, since no model key is set. It reads a file that the task names, or does what its lines order.
      Try{' '}
      {EXAMPLES.map(([name, task], place) => (
        <span key={name}>
          {place > 0 && ', or '}
          <button type="button" className="link" onClick={() => choose(task)}>
            {name}
          </button>
        </span>
      ))}
    </p>
  );
}
