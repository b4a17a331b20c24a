import fc from 'fast-check';
import { contrast } from '@perkway/domain';
import { takesWhiteText } from '../../src/page/color.js';

it('chooses the text color with the better contrast on any brand color', () => {
  const channel = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(channel, channel, channel, (...parts) => {
      const color = `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
      const [white, black] = [contrast(color, '#ffffff'), contrast(color, '#14120f')];
      expect(takesWhiteText(color) ? white : black).toBe(Math.max(white, black));
    }),
  );
  expect([takesWhiteText('#0f5c4c'), takesWhiteText('#ffd400')]).toEqual([true, false]);
});
