import { runNode } from '../src';

const PROGRAM = `
  import { onStopSignal } from './libs/platform/src/stop-signal.ts';
  process.on('SIGTERM', () => process.exit(143));
  process.kill(process.pid, 'SIGTERM');
  // Blocks the event loop, as loading modules does: the signal arrives, but its listener cannot run yet.
  for (const end = Date.now() + 200; Date.now() < end; );
  onStopSignal((signal) => { console.log('heard ' + signal); process.exit(0); });
  setTimeout(() => process.exit(7), 5_000);
`;

it('handles a signal that arrived while the app was loading', async () => {
  const { exitCode, output } = await runNode(['--import', 'tsx', '--input-type=module', '--eval', PROGRAM]);
  expect([exitCode, output.trim()]).toEqual([0, 'heard SIGTERM']);
});
