import { useState } from 'react';

interface Props {
  /** The address of the picture; without one, or when it does not load, the first letter stands in. */
  src: string | null | undefined;
  name: string;
  size?: 'small' | 'wide';
}

const HUES = 6;
const hueOf = (name: string) => [...name].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % HUES;

/** Decoration: the name of the perk always stands beside it. */
export function PerkPicture({ src, name, size = 'small' }: Props) {
  const [broken, setBroken] = useState<string | null>(null);
  const shown = src && /^https?:/.test(src) && broken !== src ? src : null;
  return (
    <span className={`picture picture-${size}`} data-hue={hueOf(name)} aria-hidden="true">
      {shown ? (
        <img
          src={shown}
          alt=""
          loading="lazy"
          referrerPolicy="no-referrer"
          onError={() => setBroken(shown)}
        />
      ) : (
        [...name][0]
      )}
    </span>
  );
}
