import type { FormEvent, ReactNode } from 'react';
import { Failure } from '../text/failure.tsx';

interface CommandFormProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly submit: () => void;
  readonly children: ReactNode;
}

/** What a command takes, and its button. */
export function CommandForm({ label, isPending, error, submit, children }: CommandFormProps) {
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
