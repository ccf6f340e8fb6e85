import { useId } from 'react';
import { useConfigured } from '../api/configured.ts';

interface AgentInputProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly change: (agent: string) => void;
}

/** The name of an agent: one of the configuration, or one that a program defines. */
export function AgentInput({ label, placeholder, value, change }: AgentInputProps) {
  const list = useId();
  const agents = useConfigured('agents');
  return (
    <>
      <input
        value={value}
        onChange={(event) => change(event.target.value.trim())}
        placeholder={placeholder}
        aria-label={label}
        list={list}
      />
      <datalist id={list}>
        {agents?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
