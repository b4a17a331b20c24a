import { NodeProcess, runNode } from '../src/index.js';

const LISTENING = `
  process.stdout.write('listening');
  process.on('SIGTERM', () => { process.stderr.write(', drained'); process.exit(0); });
  setInterval(() => {}, 1000);
`;
const started = async (): Promise<NodeProcess> => {
  const listening = new NodeProcess(['-e', LISTENING]);
  await listening.until(() => listening.output === 'listening', 'start');
  return listening;
};

describe('NodeProcess', () => {
  it('is ended by the signal that a test wants', async () => {
    const [drained, killed] = await Promise.all([started(), started()]);
    await Promise.all([drained.kill('SIGTERM'), killed.kill('SIGKILL')]);
    expect([await drained.ended, drained.output]).toEqual([0, 'listening, drained']);
    expect([await killed.ended, killed.output]).toEqual([-1, 'listening']);
    // Once more does no harm.
    await killed.kill('SIGKILL');
  });

  it('says what it wrote when it ends before what is waited for', async () => {
    const failing = new NodeProcess(['-e', 'console.error("no such database"); process.exit(3)']);
    await expect(failing.until(() => false, 'readiness')).rejects.toThrow(
      /ended before this: readiness; it wrote:\nno such database/,
    );
  });

  it('has the environment that it is given, and no other', async () => {
    process.env.PERKWAY_TEST_STRAY = 'stray';
    const script = 'process.stdout.write([process.env.GIVEN, process.env.PERKWAY_TEST_STRAY].join())';
    expect(await runNode(['-e', script], { env: { GIVEN: 'given' } })).toEqual({
      exitCode: 0,
      output: 'given,',
    });
    delete process.env.PERKWAY_TEST_STRAY;
  });
});
