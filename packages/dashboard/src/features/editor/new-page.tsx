// A new deployment: write its manifest, look at the plan, apply it, and follow it until it runs.

import { isJsonObject } from '@holdfast/contract'
import { manifestTemplate } from '@holdfast/manifest'
import { useState } from 'react'
import { changes } from '../../api/plan/changes.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import styles from './editor.module.css'
import { type Intent, ManifestEditor } from './manifest-editor.tsx'

const CREATE: Intent = {
  verb: texts.plan.verbs.apply,
  body: (value) => (isJsonObject(value) ? value : {}),
  change: (name, body) => changes.create(name, body),
}

const TEMPLATE = manifestTemplate('web', 'registry.example.com/web:1.0.0')

export function NewPage() {
  const [round, setRound] = useState(0)
  return (
    <div className={styles.page}>
      <PageHead title={texts.editor.new} aside={<span className={styles.muted}>{texts.editor.note}</span>} />
      <ManifestEditor key={round} initial={TEMPLATE} intent={CREATE} onRestart={() => setRound(round + 1)} />
      <CliFoot same={equivalents.apply()} />
    </div>
  )
}
