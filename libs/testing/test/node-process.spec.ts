import { NodeProcess, runNode } from '../src/index.js';

const LISTENING = `
  process.on('SIGTERM', () => { process.stderr.write(', drained'); process.exit(0); });
  process.stdout.write('listening');
  setInterval(() => {}, 1000);
`;
const started = async (): Promise<NodeProcess> => {
  const listening = new NodeProcess(['-e', LISTENING]);
  await listening.until(() => listening.output === 'listening', 'start');
  return listening;
};

describe('NodeProcess', () => {
  it('ends with the signal that a test sends', async () => {
    const [drained, killed] = await Promise.all([started(), started()]);
    await Promise.all([drained.kill('SIGTERM'), killed.kill('SIGKILL')]);
    expect([await drained.ended, drained.output]).toEqual([0, 'listening, drained']);
    expect([await killed.ended, killed.output]).toEqual([-1, 'listening']);
    // A second kill does no harm.
    await killed.kill('SIGKILL');
  });

  it('reports its output if it exits before the condition holds', async () => {
    const failing = new NodeProcess(['-e', 'console.error("no such database"); process.exit(3)']);
    await expect(failing.until(() => false, 'readiness')).rejects.toThrow(
      /ended while waiting for: readiness; its output:\nno such database/,
    );
  });

  it('gets only the environment that it is given', async () => {
    process.env.PERKWAY_TEST_STRAY = 'stray';
    const script = 'process.stdout.write([process.env.GIVEN, process.env.PERKWAY_TEST_STRAY].join())';
    expect(await runNode(['-e', script], { env: { GIVEN: 'given' } })).toEqual({
      exitCode: 0,
      output: 'given,',
    });
    delete process.env.PERKWAY_TEST_STRAY;
  });
});
