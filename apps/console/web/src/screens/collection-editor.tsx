import type { PutCollection, StoredCollection } from '../api/types';
import { AccountField } from '../parts/account-field';
import { TextArea } from '../parts/fields';
import { Card } from '../parts/screen';
import { ResourceEditor } from '../parts/resource-editor';
import { fromYaml, toYaml } from '../parts/yaml-text';
import { texts } from '../texts';
import { CATALOGUE, type EditorProps } from './catalogue';

const t = texts.catalogue;
type Groups = PutCollection['groups'];

/** The user's input, unchecked: the host validates it. */
function groupsOf(text: string): Groups {
  const groups = fromYaml<unknown>(t.groups, text, []);
  return Array.isArray(groups) ? (groups as Groups) : [];
}

/** Shows nothing while the input is not valid YAML. */
function previewOf(text: string): Partial<Groups[number]>[] {
  try {
    return groupsOf(text);
  } catch {
    return [];
  }
}

export default function CollectionEditor({ id, onSaved, onDeleted }: EditorProps) {
  return (
    <ResourceEditor<StoredCollection, { owner: string; groups: string }, PutCollection>
      path={`${CATALOGUE}/perk-collections`}
      id={id}
      makeId={({ owner }) => owner && `${owner}-perks`}
      blank={{ owner: '', groups: '' }}
      toDraft={({ owner, groups }) => ({ owner, groups: toYaml(groups) })}
      toBody={({ owner, groups }) => ({ owner, groups: groupsOf(groups) })}
      canDelete
      onSaved={onSaved}
      onDeleted={onDeleted}
      preview={({ groups }) =>
        previewOf(groups).map((group, index) => (
          <Card key={index} title={group?.name ?? ''} note={t.perkCount(group?.perks?.length ?? 0)}>
            <ol className="hint">
              {(Array.isArray(group?.perks) ? group.perks : [])
                .toSorted((one, other) => one.rank - other.rank)
                .map((perk) => (
                  <li key={perk.id}>{perk.id}</li>
                ))}
            </ol>
          </Card>
        ))
      }
      fields={(draft, change) => (
        <>
          <AccountField value={draft.owner} onValue={(owner) => change({ owner })} />
          <TextArea
            label={t.groups}
            className="wide code"
            rows={20}
            spellCheck={false}
            hint={t.groupsHint}
            value={draft.groups}
            onValue={(groups) => change({ groups })}
          />
        </>
      )}
    />
  );
}
