import { closeAll } from '../src/index.js';

it('closes everything in order and throws the first failure', async () => {
  const closed: string[] = [];
  const part = (name: string, failure?: Error) => ({
    close: async () => {
      closed.push(name);
      if (failure) throw failure;
    },
  });
  const parts = [
    part('app', new Error('the document')),
    undefined,
    part('broker', new Error('late')),
    part('database'),
  ];
  await expect(closeAll(...parts)).rejects.toThrow('the document');
  expect(closed).toEqual(['app', 'broker', 'database']);
});
