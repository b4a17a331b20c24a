import type { ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components';

interface Props {
  label: string;
  selected: string;
  onSelect: (id: string) => void;
  tabs: { id: string; label: string; content: () => ReactNode }[];
}

/** Renders only the selected panel, so that hidden ones send no requests. */
export const Tabs = ({ label, selected, onSelect, tabs }: Props) => (
  <AriaTabs className="tabs" selectedKey={selected} onSelectionChange={(key) => onSelect(String(key))}>
    <TabList aria-label={label} className="tab-list">
      {tabs.map(({ id, label: name }) => (
        <Tab key={id} id={id}>
          {name}
        </Tab>
      ))}
    </TabList>
    {tabs.map(({ id, content }) => (
      <TabPanel key={id} id={id} className="tab-panel">
        {content()}
      </TabPanel>
    ))}
  </AriaTabs>
);
