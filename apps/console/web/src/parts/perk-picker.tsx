import { useState } from 'react';
import { COLLECTIONS, PERKS, useAll, useSearch } from '../api/managed';
import { usePerks } from '../api/perks-by-id';
import type { StoredPerk } from '../api/types';
import { texts } from '../texts';
import { Dialog } from './dialog';
import { SelectField, TextField } from './fields';
import { Loaded } from './loaded';
import { PerkPicture } from './perk-picture';
import '../styles/perks.css';

const t = texts.perkPicker;
const MAX_SHOWN = 100;

/** Picture and name of a perk. A perk that does not exist, or no longer, is shown by its id. */
export const PerkName = ({ id, perk }: { id: string; perk: StoredPerk | undefined }) => (
  <span className="with-picture">
    <PerkPicture src={perk?.media.logo ?? perk?.media.banner} name={perk?.title ?? id} />
    <span>
      {perk?.title ?? <code>{id}</code>} {perk && <span className="hint">{perk.partner.name}</span>}
    </span>
  </span>
);

interface Props {
  title: string;
  chosen: readonly string[];
  onAdd: (ids: string[]) => void;
  onRemove: (id: string) => void;
  onClose: () => void;
}

/** Chooses perks by picture: from a search, or from a collection. */
export function PerkPicker({ title, chosen, onAdd, onRemove, onClose }: Props) {
  const [q, setQ] = useState('');
  const [collection, setCollection] = useState('');
  const found = useSearch(PERKS, { q, limit: MAX_SHOWN });
  const collections = useAll(COLLECTIONS);
  const words = q.toLowerCase();
  const ofCollection = collections.data
    ?.find(({ id }) => id === collection)
    ?.groups.flatMap((group) => group.perks.map(({ id }) => id));
  const perks = usePerks(ofCollection ?? []);
  const listed: { id: string; perk?: StoredPerk | undefined }[] = ofCollection
    ? [...new Set(ofCollection)]
        .map((id) => ({ id, perk: perks.get(id) }))
        .filter(({ id, perk }) => `${id} ${perk?.title ?? ''}`.toLowerCase().includes(words))
    : (found.data?.pages[0]?.data ?? []).map((perk) => ({ id: perk.id, perk }));
  const shown = listed.slice(0, MAX_SHOWN);
  const missing = listed.filter(({ id }) => !chosen.includes(id)).map(({ id }) => id);
  return (
    <Dialog title={title} isOpen onClose={onClose} size="wide">
      <div className="form" role="search">
        <TextField label={t.find} type="search" value={q} onValue={setQ} />
        <SelectField
          label={t.collection}
          value={collection}
          any={t.allPerks}
          options={(collections.data ?? []).map(({ id }) => ({ value: id, label: id }))}
          onValue={setCollection}
        />
      </div>
      <p className="hint" role="status">
        {t.chosen(chosen.length)} {listed.length >= MAX_SHOWN && t.first(MAX_SHOWN)}
      </p>
      <Loaded query={found} lines={6}>
        {() =>
          shown.length === 0 ? (
            <p>{texts.nothingFound}</p>
          ) : (
            <ul className="picks" aria-label={t.perks}>
              {shown.map(({ id, perk }) => {
                const isChosen = chosen.includes(id);
                return (
                  <li key={id}>
                    <button
                      type="button"
                      className="pick"
                      aria-pressed={isChosen}
                      onClick={() => (isChosen ? onRemove(id) : onAdd([id]))}
                    >
                      <PerkPicture
                        size="wide"
                        src={perk?.media.banner ?? perk?.media.logo}
                        name={perk?.title ?? id}
                      />
                      <span className="pick-name">
                        {perk?.title ?? <code>{id}</code>}{' '}
                        {perk && <span className="hint">{perk.partner.name}</span>}
                      </span>
                    </button>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
      <div className="dialog-actions">
        {collection && missing.length > 0 && (
          <button type="button" className="button" onClick={() => onAdd(missing)}>
            {t.addAll(missing.length)}
          </button>
        )}
        <button type="button" className="button main" onClick={onClose}>
          {t.done}
        </button>
      </div>
    </Dialog>
  );
}
