/** Docker's health check: asks the port that the proxy does not expose whether the app is ready. Exit code 0 or 1. */
import { get } from 'node:http';

const port = process.env.METRICS_PORT || process.env.PORT;
const end = (reason) => {
  if (reason) console.error(`not ready: ${reason}`);
  process.exit(reason ? 1 : 0);
};
get({ host: '127.0.0.1', port, path: '/readyz', timeout: 2_000 }, ({ statusCode }) =>
  end(statusCode === 200 ? '' : statusCode),
)
  .on('timeout', () => end('no response'))
  .on('error', ({ code }) => end(code));
