import { useMutation } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { wantsKey, wantsLogin } from '../api/problem.ts';
import { logOut } from '../api/request.ts';
import { useWaitingCalls } from '../api/waiting.ts';
import { Failure, LogIn } from '../text/failure.tsx';

/** What every page stands in. */
export function Frame() {
  const { data, error } = useWaitingCalls();
  const waiting = data?.items.length ?? 0;
  return (
    <>
      <header className="top">
        <Link to="/" className="brand">
          Holdfast
        </Link>
        <nav aria-label="Pages">
          <Link to="/" activeOptions={{ exact: true }}>
            Conversations
          </Link>
          <Link to="/search">Search</Link>
          <Link to="/inbox">Inbox {waiting > 0 && <Waiting number={waiting} hasMore={data?.hasMore === true} />}</Link>
        </nav>
        {(error === null || !wantsLogin(error)) && <LogOut />}
      </header>
      <main>
        {error !== null && wantsKey(error) && <LogIn error={error} />}
        <Outlet />
      </main>
    </>
  );
}

function LogOut() {
  const leave = useMutation({ mutationFn: logOut });
  return (
    <>
      <button type="button" className="link log-out" disabled={leave.isPending} onClick={() => leave.mutate()}>
        Log out
      </button>
      {leave.error !== null && <Failure error={leave.error} />}
    </>
  );
}

function Waiting({ number, hasMore }: { readonly number: number; readonly hasMore: boolean }) {
  return (
    <span className="number-waiting">
      {number}
      {hasMore && '+'}
    </span>
  );
}
