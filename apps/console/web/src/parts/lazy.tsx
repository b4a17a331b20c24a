import { useEffect, useState, type ComponentType, type ReactNode } from 'react';
import { Loading } from './loaded';

/**
 * Returns a component whose code loads when it is first shown. It replaces React's `lazy` and `Suspense`, because React
 * keeps a fallback on the screen for at least 300 ms.
 */
export function lazy<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  fallback: ReactNode = <Loading />,
) {
  let Loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [, setLoaded] = useState(Loaded !== undefined);
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (module) => {
          Loaded = module.default;
          setLoaded(true);
        },
        // Rendering throws the error, as React's `lazy` does.
        (error: unknown) =>
          setLoaded(() => {
            throw error;
          }),
      );
    }, []);
    return Loaded ? <Loaded {...props} /> : fallback;
  };
}
