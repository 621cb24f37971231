// A manifest under edit: the text with its faults, then the plan. Nothing is stored before the plan was read.

import type { Json, JsonObject } from '@holdfast/contract'
import { isJsonObject } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { CallError, explainFailure, type FailureText } from '../../api/failure.ts'
import type { Change } from '../../api/plan/change.ts'
import { useSession } from '../../api/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Notice } from '../../parts/notice.tsx'
import { texts } from '../../texts/en.ts'
import { CodeEditor, type EditorHandle } from './code-editor.tsx'
import styles from './editor.module.css'
import { FaultList } from './fault-list.tsx'
import { PlanStage } from './plan-stage.tsx'
import { resolveBody } from './resolve-body.ts'
import { useLeaving } from './use-leaving.tsx'
import { useManifestText } from './use-manifest-text.ts'

/** A change that may be made of the text. */
export interface Intent {
  readonly verb: string
  body(value: Json): JsonObject
  change(name: string, body: JsonObject): Change
}

interface Props {
  readonly initial: string
  /** The name of the deployment that is edited; absent for a new one. */
  readonly deployment?: string
  readonly intent: Intent
  /** Other ways to use the text, shown below it. */
  extra?(preview: (intent: Intent) => void): ReactNode
  onRestart(): void
}

interface Stage {
  readonly change: Change
  readonly verb: string
}

export function ManifestEditor({ initial, deployment, intent, extra, onRestart }: Props) {
  const { client } = useSession()
  const text = useManifestText(initial, deployment)
  const handle = useRef<EditorHandle>(null)
  const [stage, setStage] = useState<Stage>()
  const [failure, setFailure] = useState<FailureText>()
  const stored = useRef<string>(initial)
  const leaving = useLeaving(() => text.current() !== stored.current)
  const preview = async ({ verb, body, change }: Intent): Promise<void> => {
    const { manifest, faults } = text.checkNow()
    if (manifest === undefined || faults.length > 0) return
    const resolved = await resolveBody(client, body(manifest.value))
    setFailure(resolved.ok ? undefined : explainFailure(new CallError(resolved.failure)))
    if (resolved.ok) setStage({ verb, change: change(nameOf(manifest.value), resolved.value) })
  }
  const markStored = (): void => {
    stored.current = text.current()
  }
  if (stage !== undefined)
    return (
      <>
        {leaving}
        <PlanStage
          {...stage}
          onBack={() => setStage(undefined)}
          onRestart={onRestart}
          onRejected={(rejections) => {
            text.showRejections(rejections)
            setStage(undefined)
          }}
          onStored={markStored}
        />
      </>
    )
  const { faults } = text.checked
  return (
    <>
      {leaving}
      {text.ofServer ? <Notice severity="error" title={texts.editor.ofServer} announced /> : null}
      <CodeEditor initial={text.current()} faults={faults} handle={handle} onChange={text.change} />
      <PreviewBar
        faults={text.ofServer ? 0 : faults.length}
        note={text.ofServer ? texts.editor.mendServer : texts.editor.noFaults}
        onPreview={() => void preview(intent)}
      />
      {failure === undefined ? null : <Failed {...failure} />}
      {faults.length === 0 ? null : (
        <FaultList faults={faults} onGoTo={({ start }) => handle.current?.goTo(start)} />
      )}
      {extra?.((other) => void preview(other))}
    </>
  )
}

const nameOf = (value: Json): string =>
  isJsonObject(value) && typeof value.name === 'string' ? value.name : ''

interface BarProps {
  readonly faults: number
  /** Shown beside the button while it is open. */
  readonly note: string
  onPreview(): void
}

function PreviewBar({ faults, note, onPreview }: BarProps) {
  const isClosed = faults > 0
  return (
    <div className={styles.bar}>
      <Button onClick={onPreview} {...(isClosed ? { 'data-disabled': true, 'aria-disabled': true } : {})}>
        {texts.editor.preview}
      </Button>
      <span role="status" className={styles.muted}>
        {isClosed ? texts.editor.closed(faults) : note}
      </span>
    </div>
  )
}
