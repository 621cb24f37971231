// The effects that a drain of the node would have, from a dry run on the server. It is read when a person asks for it.

import { Button } from '@mantine/core'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { useDrainEffects } from '../../api/use-nodes.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { EffectsList } from '../../parts/effects-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import styles from './node-page.module.css'

const NEEDS = 'nodes:write'

export function DrainPreview({ id, name }: { readonly id: string; readonly name: string }) {
  const { me } = useSession()
  const [asked, setAsked] = useState(false)
  const { data: effects, error } = useDrainEffects(id, asked)
  const { command } = equivalents.drain(name, id)
  if (!mayDo(me, NEEDS))
    return (
      <Panel title={texts.nodes.drain}>
        <p className={styles.none}>{texts.roles.needs(NEEDS, me.token.role)}</p>
      </Panel>
    )
  return (
    <Panel title={texts.nodes.drain} aside={texts.nodes.drainNote}>
      {asked ? null : (
        <div className={styles.ask}>
          <Button variant="default" size="compact-sm" onClick={() => setAsked(true)}>
            {texts.nodes.showDrain}
          </Button>
        </div>
      )}
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {asked && effects === undefined && error === null ? <Loading /> : null}
      {effects === undefined ? null : (
        <>
          <EffectsList effects={effects} none={texts.nodes.drainNothing} />
          <p className={styles.ask}>
            <code>{command}</code> <CopyButton text={command} />
          </p>
        </>
      )}
    </Panel>
  )
}
