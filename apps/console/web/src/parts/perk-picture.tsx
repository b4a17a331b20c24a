import { useState } from 'react';

interface Props {
  /** URL of the picture; the first letter of the name stands in until it has loaded, or if it fails. */
  src: string | null | undefined;
  /** The title of a perk, so that it has the same letter and color on every screen. */
  name: string;
  size?: 'small' | 'wide';
}

const HUES = 6;
const hueOf = (name: string) => [...name].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % HUES;

/** Decorative: the name always stands beside it. */
export function PerkPicture({ src, name, size = 'small' }: Props) {
  const [loaded, setLoaded] = useState<string | null>(null);
  return (
    <span className={`picture picture-${size}`} data-hue={hueOf(name)} aria-hidden="true">
      {[...name][0]}
      {src && /^https?:/.test(src) && (
        <img
          src={src}
          alt=""
          loading="lazy"
          referrerPolicy="no-referrer"
          className={loaded === src ? 'is-loaded' : undefined}
          onLoad={() => setLoaded(src)}
        />
      )}
    </span>
  );
}
