// The manifest of a stored deployment, to edit: preview, apply, or try in a canary. The way to delete it is at the end.

import type { DeploymentRecord, Json, JsonObject } from '@holdfast/contract'
import { manifestFields, writeManifest } from '@holdfast/manifest'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { changes } from '../../api/plan/changes.ts'
import { useSession } from '../../api/session.tsx'
import { useRecord } from '../../api/use-deployments.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { updateBody } from './body-of.ts'
import { CanaryForm } from './canary-form.tsx'
import styles from './editor.module.css'
import { type Intent, ManifestEditor } from './manifest-editor.tsx'

const route = getRouteApi('/t/$tenant/deployments/$name/settings')

export function SettingsPage() {
  const { name } = route.useParams()
  const [round, setRound] = useState(0)
  const { data: record, error } = useRecord(name)
  return (
    <div className={styles.page}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {record === undefined && error === null ? <Loading lines={8} /> : null}
      {record === undefined ? null : (
        <Settings key={`${name} ${round}`} record={record} onRestart={() => setRound(round + 1)} />
      )}
      <Removal name={name} />
      <CliFoot same={equivalents.apply(name)} />
    </div>
  )
}

interface Props {
  readonly record: DeploymentRecord
  onRestart(): void
}

/** The text belongs to the revision from which it was made, also when a newer one is stored while a person edits. */
function Settings({ record, onRestart }: Props) {
  const [base] = useState(record)
  const { name, revision } = base
  const [loaded] = useState<JsonObject>(() => manifestFields(asJson(base)))
  const update: Intent = {
    verb: texts.plan.verbs.apply,
    body: (value) => updateBody(loaded, value),
    change: (_name, body) => changes.update(name, body, revision),
  }
  return (
    <>
      <p className={styles.muted}>
        {texts.editor.manifest} {texts.editor.edited(revision)}. {texts.editor.note}
      </p>
      <ManifestEditor
        initial={writeManifest(loaded)}
        deployment={name}
        intent={update}
        onRestart={onRestart}
        extra={(preview) => <CanaryForm {...{ name, revision, loaded }} onPreview={preview} />}
      />
    </>
  )
}

/** The record as plain JSON, in which members that are not given are absent. */
const asJson = (record: DeploymentRecord): Json => JSON.parse(JSON.stringify(record))

function Removal({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  return (
    <Panel title={texts.editor.remove}>
      <p className={styles.remove}>
        <span>{texts.editor.removeNote}</span>
        <Link
          to="/t/$tenant/deployments/$name/change"
          params={{ tenant, name }}
          search={{ act: 'delete' }}
          className={styles.removeLink}
        >
          {texts.editor.removeAct(name)}
        </Link>
      </p>
    </Panel>
  )
}
