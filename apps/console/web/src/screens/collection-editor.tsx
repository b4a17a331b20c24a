import { SHAPES } from '@perkway/catalogue/shapes';
import { useState } from 'react';
import { bodyOf, COLLECTIONS } from '../api/managed';
import { usePerks } from '../api/perks-by-id';
import type { PutCollection, StoredCollection } from '../api/types';
import { appended, byRank, moved, movePerk, ranked, type Place } from '../order';
import { AccountField } from '../parts/account-field';
import { ArrangedItem, ArrangeTools, useArrange } from '../parts/arrange';
import { TextField } from '../parts/fields';
import { PerkName, PerkPicker } from '../parts/perk-picker';
import { ResourceEditor, type EditorProps, type ErrorOf } from '../parts/resource-editor';
import { TranslationsField, withoutLanguage, withText } from '../parts/translations';
import { texts } from '../texts';

const t = texts.catalogue;
type Group = PutCollection['groups'][number];

const BLANK: PutCollection = { owner: '', groups: [] };

/** The groups of a collection with more perks are folded at first. */
const SHOWN_AT_FIRST = 30;
const keyOf = ({ id }: Group, index: number) => id ?? String(index);

/** Sorts as customers see it. */
const sorted = ({ groups, ...collection }: PutCollection): PutCollection => ({
  ...collection,
  groups: byRank(groups).map((group) => ({
    ...group,
    name: group.name ?? '',
    perks: byRank(group.perks ?? []),
  })),
});

export default function CollectionEditor({ id, onSaved, onDeleted }: EditorProps) {
  return (
    <ResourceEditor<StoredCollection, PutCollection, PutCollection>
      kind={COLLECTIONS}
      id={id}
      makeId={({ owner }) => owner && `${owner}-perks`}
      idHint={t.collectionId}
      blank={BLANK}
      toDraft={(stored) => sorted({ ...BLANK, ...bodyOf<PutCollection>(stored) })}
      toBody={(collection) => collection}
      shape={SHAPES.collections}
      textOfItem={(_, { name, perks }: Group) => `${name}: ${perks.map(({ id }) => id).join(' ')}`}
      onSaved={onSaved}
      onDeleted={onDeleted}
      fields={({ owner, groups }, change, errorOf) => (
        <>
          <AccountField
            value={owner}
            error={errorOf('owner')}
            onValue={(account) => change({ owner: account })}
          />
          <Groups groups={groups} errorOf={errorOf} onGroups={(changed) => change({ groups: changed })} />
          {groups.length > 0 && (
            <GroupTranslations groups={groups} onGroups={(changed) => change({ groups: changed })} />
          )}
        </>
      )}
    />
  );
}

interface GroupsProps {
  groups: Group[];
  errorOf: ErrorOf;
  onGroups: (groups: Group[]) => void;
}

/** Groups and their perks, which move by drag and by buttons. */
function Groups({ groups, errorOf, onGroups }: GroupsProps) {
  const perks = usePerks(groups.flatMap((group) => group.perks.map(({ id }) => id)));
  const [adding, setAdding] = useState<number | null>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => {
    const count = groups.reduce((sum, group) => sum + group.perks.length, 0);
    return new Set(count > SHOWN_AT_FIRST ? groups.map(keyOf) : []);
  });
  const isFolded = (index: number) => folded.has(keyOf(groups[index]!, index));
  const fold = (index: number, isHidden: boolean) => {
    const next = new Set(folded);
    if (isHidden) next.add(keyOf(groups[index]!, index));
    else next.delete(keyOf(groups[index]!, index));
    setFolded(next);
  };
  const areAllFolded = groups.every((_, index) => isFolded(index));
  const nameOf = (id: string) => perks.get(id)?.title ?? id;
  const nameOfGroup = (index: number) => groups[index]!.name || t.groupNumber(index + 1);
  const setPerks = (index: number, changed: Group['perks']) =>
    onGroups(groups.with(index, { ...groups[index]!, perks: changed }));

  const arranging = useArrange((from, to) => {
    if (from.length === 1) {
      onGroups(ranked(moved(groups, from[0]!, to[0]!)));
      return texts.arrange.moved(nameOfGroup(from[0]!), to[0]! + 1, groups.length);
    }
    const name = nameOf(groups[from[0]!]!.perks[from[1]!]!.id);
    const changed = movePerk(groups, from, to);
    if (!changed) return t.perkIsThere(name, nameOfGroup(to[0]!));
    onGroups(changed);
    fold(to[0]!, false);
    const count = changed[to[0]!]!.perks.length;
    return t.perkMoved(name, nameOfGroup(to[0]!), Math.min(to[1]! + 1, count), count);
  });
  const above = (group: number, perk: number): Place | null =>
    perk > 0 ? [group, perk - 1] : group > 0 ? [group - 1, groups[group - 1]!.perks.length] : null;
  const below = (group: number, perk: number): Place | null =>
    perk < groups[group]!.perks.length - 1
      ? [group, perk + 1]
      : group < groups.length - 1
        ? [group + 1, 0]
        : null;

  return (
    <fieldset className="wide field-group">
      <legend>{t.groups}</legend>
      <div className="stack">
        <p className="hint">{t.groupsHint}</p>
        {errorOf('groups') && <p className="field-error">{errorOf('groups')}</p>}
        {groups.length > 1 && (
          <button
            type="button"
            className="button small"
            onClick={() => setFolded(new Set(areAllFolded ? [] : groups.map(keyOf)))}
          >
            {areAllFolded ? t.showAllPerks : t.hideAllPerks}
          </button>
        )}
        {groups.map((group, index) => (
          <section
            key={keyOf(group, index)}
            data-item
            className="perk-group"
            aria-label={nameOfGroup(index)}
            {...arranging.target([index])}
          >
            <div className="perk-group-head">
              <TextField
                label={t.groupName}
                required
                maxLength={200}
                error={errorOf(`groups.${index}.name`)}
                value={group.name}
                onValue={(name) => onGroups(groups.with(index, { ...group, name }))}
              />
              <ArrangeTools
                arranging={arranging}
                id={`group ${keyOf(group, index)}`}
                name={nameOfGroup(index)}
                place={[index]}
                up={index > 0 ? [index - 1] : null}
                down={index < groups.length - 1 ? [index + 1] : null}
                removeLabel={t.removeGroup(nameOfGroup(index))}
                onRemove={() => onGroups(groups.toSpliced(index, 1))}
              />
            </div>
            <button
              type="button"
              className="button small"
              aria-label={t.perksShown(group.perks.length, isFolded(index), nameOfGroup(index))}
              onClick={() => fold(index, !isFolded(index))}
              {...(isFolded(index) && arranging.target([index, group.perks.length]))}
            >
              {t.perksShown(group.perks.length, isFolded(index))}
            </button>
            {!isFolded(index) && (
              <>
                <ol
                  className="arranged-list"
                  aria-label={t.perksOf(nameOfGroup(index))}
                  {...arranging.target([index, group.perks.length])}
                >
                  {group.perks.map(({ id }, nth) => (
                    <ArrangedItem
                      key={id}
                      arranging={arranging}
                      id={`perk ${id}`}
                      name={nameOf(id)}
                      place={[index, nth]}
                      up={above(index, nth)}
                      down={below(index, nth)}
                      removeLabel={t.removePerk(nameOf(id), nameOfGroup(index))}
                      onRemove={() => setPerks(index, group.perks.toSpliced(nth, 1))}
                    >
                      <PerkName id={id} perk={perks.get(id)} />
                    </ArrangedItem>
                  ))}
                  {group.perks.length === 0 && <li className="hint">{t.noPerks}</li>}
                </ol>
                <button type="button" className="button small" onClick={() => setAdding(index)}>
                  {t.addPerks(nameOfGroup(index))}
                </button>
              </>
            )}
          </section>
        ))}
        {/* The id is made here, so that a group can be told apart before it is saved. */}
        <button
          type="button"
          className="button"
          onClick={() => onGroups(appended(groups, { id: crypto.randomUUID(), name: '', perks: [] }))}
        >
          {t.addGroup}
        </button>
        {arranging.status}
      </div>
      {adding !== null && groups[adding] && (
        <PerkPicker
          title={t.addPerks(nameOfGroup(adding))}
          chosen={groups[adding].perks.map(({ id }) => id)}
          onAdd={(ids) =>
            setPerks(
              adding,
              ids.reduce<Group['perks']>((list, id) => appended(list, { id }), groups[adding]!.perks),
            )
          }
          onRemove={(id) =>
            setPerks(
              adding,
              groups[adding]!.perks.filter((perk) => perk.id !== id),
            )
          }
          onClose={() => setAdding(null)}
        />
      )}
    </fieldset>
  );
}

/** The names of all groups beside their translations. */
function GroupTranslations({ groups, onGroups }: Pick<GroupsProps, 'groups' | 'onGroups'>) {
  // A language that was just added is in no group yet.
  const [added, setAdded] = useState<string[]>([]);
  const languages = [
    ...new Set([...groups.flatMap(({ translations }) => Object.keys(translations ?? {})), ...added]),
  ].sort();
  return (
    <TranslationsField
      languages={languages}
      onAdd={(language) => setAdded([...added, language])}
      onRemove={(language) => {
        setAdded(added.filter((one) => one !== language));
        onGroups(
          groups.map((group) => ({ ...group, translations: withoutLanguage(group.translations, language) })),
        );
      }}
      texts={groups.map((group, index) => ({
        key: group.id ?? String(index),
        label: t.groupNumber(index + 1),
        original: group.name,
        valueIn: (language) => group.translations?.[language]?.name ?? '',
        onValue: (language, text) =>
          onGroups(
            groups.with(index, {
              ...group,
              translations: withText(group.translations, language, 'name', text),
            }),
          ),
      }))}
    />
  );
}
