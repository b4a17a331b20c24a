import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { ApiError } from './api/http';
import { App } from './app';
import { LiveProvider } from './parts/live';
import { NoticeProvider } from './parts/notices';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/charts.css';
import './styles/print.css';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      // Errors that the user has to fix are not retried.
      retry: (tries, error) =>
        tries < 2 && error instanceof ApiError && error.isTransient && error.status !== 429,
    },
  },
});

/** One route, whose screens are in `App`: a data router can ask before a screen is left. */
const router = createBrowserRouter([{ path: '*', element: <App /> }]);

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <NoticeProvider>
        <LiveProvider>
          <RouterProvider router={router} />
        </LiveProvider>
      </NoticeProvider>
    </QueryClientProvider>
  </StrictMode>,
);
