import { useState } from 'react';
import type { ReactNode } from 'react';

interface FoldProps {
  readonly summary: ReactNode;
  /** Called once it is unfolded: what stands in it may be thousands of rows, or a request. */
  readonly children: () => ReactNode;
}

/** A part that is made when it is unfolded for the first time. */
export function Fold({ summary, children }: FoldProps) {
  const [isWanted, setIsWanted] = useState(false);
  return (
    <details className="fold" onToggle={({ currentTarget }) => setIsWanted(isWanted || currentTarget.open)}>
      <summary>{summary}</summary>
      {isWanted && children()}
    </details>
  );
}
