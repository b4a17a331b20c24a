// Preloaded into an app (`node --require`). SIGUSR2 sets its clock back by CLOCK_SET_BACK_MS; a second one restores it.
let offset = 0;
process.on('SIGUSR2', () => {
  offset = offset === 0 ? -Number(process.env.CLOCK_SET_BACK_MS) : 0;
});

const RealDate = Date;
const now = () => RealDate.now() + offset;
globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length > 0 ? given : [now()], newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
