/** What Docker asks a container: is the app ready? On the port that no proxy exposes. Exit code 0 or 1. */
import { get } from 'node:http';

const port = process.env.METRICS_PORT || process.env.PORT;
const end = (reason) => {
  if (reason) console.error(`not ready: ${reason}`);
  process.exit(reason ? 1 : 0);
};
get({ host: '127.0.0.1', port, path: '/readyz', timeout: 2_000 }, ({ statusCode }) =>
  end(statusCode === 200 ? '' : statusCode),
)
  .on('timeout', () => end('no answer'))
  .on('error', ({ code }) => end(code));
