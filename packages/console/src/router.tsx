import { createHashHistory, createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Frame } from './pages/frame.tsx';
import { ConversationPage } from './pages/conversation.tsx';
import { ConversationsPage } from './pages/conversations.tsx';

const rootRoute = createRootRoute({ component: Frame });

const conversations = createRoute({ getParentRoute: () => rootRoute, path: '/', component: ConversationsPage });

const conversation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/conversations/$conversationId',
  component: function Conversation() {
    const { conversationId } = conversation.useParams();
    return <ConversationPage key={conversationId} conversationId={conversationId} />;
  },
});

/** Addresses behind `#`, so that the server serves one page. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([conversations, conversation]),
  history: createHashHistory(),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
