// The registries from which images may be pulled, and whether the tenant has a credential for each.

import type { Registry } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useRegistries } from '../../api/resources/use-access.ts'
import { useWrite } from '../../api/resources/use-write.ts'
import { useStale } from '../../live/live-provider.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { accessTexts } from '../../texts/en/access.ts'
import styles from './access-page.module.css'
import { RemoveCredential, SetCredential } from './registry-credential.tsx'

type Opened = { readonly kind: 'set' | 'remove'; readonly host: string } | undefined

export function Registries({ onDone }: { onDone(text: string): void }) {
  const { data, error } = useRegistries()
  const [opened, setOpened] = useState<Opened>()
  const close = (): void => setOpened(undefined)
  const finish = (text: string): void => {
    close()
    onDone(text)
  }
  return (
    <Panel title={accessTexts.registries} aside={accessTexts.registriesNote}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={1} /> : null}
      <ul>
        {(data ?? []).map((registry) => (
          <Row key={registry.host} registry={registry} onOpen={setOpened} />
        ))}
      </ul>
      {opened?.kind === 'set' ? <SetCredential host={opened.host} onDone={finish} onClose={close} /> : null}
      {opened?.kind === 'remove' ? (
        <RemoveCredential host={opened.host} onDone={finish} onClose={close} />
      ) : null}
    </Panel>
  )
}

interface RowProps {
  readonly registry: Registry
  onOpen(opened: Opened): void
}

function Row({ registry: { host, credential, updatedAt }, onOpen }: RowProps) {
  const { closed } = useWrite('registries:write', useStale())
  const rest = { variant: 'default', size: 'compact-sm', disabled: closed !== undefined } as const
  return (
    <li className={styles.row}>
      <strong className={styles.host}>{host}</strong>
      <span className={styles.muted}>
        {credential ? accessTexts.hasCredential : accessTexts.noCredential}{' '}
        {updatedAt === undefined ? null : <Moment iso={updatedAt} />}
      </span>
      <Button {...rest} aria-label={accessTexts.setFor(host)} onClick={() => onOpen({ kind: 'set', host })}>
        {accessTexts.setCredential}
      </Button>
      {credential ? (
        <Button
          {...rest}
          aria-label={accessTexts.removeFor(host)}
          onClick={() => onOpen({ kind: 'remove', host })}
        >
          {accessTexts.removeCredential}
        </Button>
      ) : null}
      {closed === undefined ? null : <span className={styles.muted}>{closed}</span>}
    </li>
  )
}
