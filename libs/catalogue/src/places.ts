import type { Location } from './resources.js';

/** Reads places such as `FR` and `DE/Berlin/Berlin` (country/region/city). */
export const placesOf = (text: string, separator: string): Location[] =>
  text
    .split(separator)
    .map((place) => place.split('/').map((part) => part.trim()))
    .filter(([country]) => country)
    .map(([country, region, city]) => ({
      country: country!,
      ...(region && { region }),
      ...(city && { city }),
    }));
