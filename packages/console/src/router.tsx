import { createHashHistory, createRootRoute, createRoute, createRouter, Link } from '@tanstack/react-router';
import { Frame } from './pages/frame.tsx';
import { ConversationPage } from './pages/conversation.tsx';
import { ConversationsPage } from './pages/conversations.tsx';
import { InboxPage } from './pages/inbox.tsx';
import { SearchPage } from './pages/search.tsx';
import type { SearchWords } from './pages/search.tsx';
import { ViewPage } from './pages/view.tsx';

const rootRoute = createRootRoute({
  component: Frame,
  notFoundComponent: () => (
    <section className="page">
      <h1>There is no such page</h1>
      <Link to="/">All conversations</Link>
    </section>
  ),
});

const conversations = createRoute({ getParentRoute: () => rootRoute, path: '/', component: ConversationsPage });

const conversation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/conversations/$conversationId',
  component: function Conversation() {
    const { conversationId } = conversation.useParams();
    return <ConversationPage key={conversationId} conversationId={conversationId} />;
  },
});

const view = createRoute({
  getParentRoute: () => rootRoute,
  path: '/conversations/$conversationId/view',
  validateSearch: ({ call }): { call?: string } => (typeof call === 'string' ? { call } : {}),
  component: function View() {
    const { conversationId } = view.useParams();
    const { call } = view.useSearch();
    return <ViewPage conversationId={conversationId} call={call} />;
  },
});

const inbox = createRoute({ getParentRoute: () => rootRoute, path: '/inbox', component: InboxPage });

function word(name: 'q' | 'agent', value: unknown): SearchWords {
  return typeof value === 'string' || typeof value === 'number' ? { [name]: String(value) } : {};
}

const search = createRoute({
  getParentRoute: () => rootRoute,
  path: '/search',
  // A query of numbers alone is read as a number.
  validateSearch: ({ q, agent, conversation }): SearchWords => ({
    ...word('q', q),
    ...word('agent', agent),
    ...(typeof conversation === 'string' && { conversation }),
  }),
  component: function Search() {
    const words = search.useSearch();
    return <SearchPage key={JSON.stringify(words)} {...words} />;
  },
});

/** Addresses behind `#`, so that the server serves one page. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([conversations, conversation, view, search, inbox]),
  history: createHashHistory(),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
