export default {
  projects: [
    '<rootDir>/apps/*/jest.config.mjs',
    '<rootDir>/libs/*/jest.config.mjs',
    '<rootDir>/tools/*/jest.config.mjs',
  ],
  // Jest reads this one here, not from the projects. Real servers on a busy machine take their time.
  testTimeout: 60_000,
  // Much of the time is waiting for servers to die and come back.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
};
