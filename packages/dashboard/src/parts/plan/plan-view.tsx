// A plan of the server: changed fields, steps, effects, what the server adds, and warnings.

import type { Alteration, DeploymentPlan, Effects, PlanStep, Warning } from '@holdfast/contract'
import { texts } from '../../texts/en.ts'
import { showValue, wordsOf } from '../../texts/show-value.ts'
import { EffectsList } from '../effects-list.tsx'
import { Notice } from '../notice.tsx'
import { Panel } from '../panel.tsx'
import { startsOf } from './apply-label.ts'
import { changedFields } from './changed-fields.ts'
import { FieldChanges } from './field-changes.tsx'
import { fieldsNote } from './fields-note.ts'
import styles from './plan.module.css'

export interface ShownPlan {
  readonly action: 'create' | 'update' | 'none' | 'delete'
  readonly changes: DeploymentPlan['changes']
  /** Set if the changes are those of a canary. */
  readonly canary?: 'start' | 'abort'
  readonly steps: readonly PlanStep[]
  readonly effects: Effects
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  readonly unplaced?: { readonly count: number; readonly summary: string; readonly cures: readonly string[] }
}

export function PlanView({ plan }: { readonly plan: ShownPlan }) {
  const { warnings, unplaced } = plan
  return (
    <>
      {unplaced === undefined ? null : (
        <Notice severity="warning" title={texts.plan.unplaced(unplaced.count)}>
          <p>{unplaced.summary}</p>
          {unplaced.cures.map((cure) => (
            <p key={cure}>{cure}</p>
          ))}
        </Notice>
      )}
      {warnings.map(({ code, field, why }) => (
        <Notice key={`${code} ${field}`} severity="warning" title={why}>
          {field === '' ? null : (
            <p>
              <code>{field}</code>
            </p>
          )}
        </Notice>
      ))}
      {plan.action === 'delete' ? null : <Fields plan={plan} />}
      <Effect plan={plan} />
      <Steps steps={plan.steps} />
      <Announced alterations={plan.alterations} />
    </>
  )
}

function Fields({ plan }: { readonly plan: ShownPlan }) {
  const fields = plan.changes.flatMap(({ field, from, to }) => changedFields(from, to, field))
  const note = fieldsNote(plan, fields.length)
  return (
    <Panel title={texts.plan.fields}>
      {note === undefined ? null : <p className={styles.none}>{note}</p>}
      {fields.length === 0 ? null : (
        <div className={styles.inset}>
          <FieldChanges changes={fields} />
        </div>
      )}
    </Panel>
  )
}

function Steps({ steps }: { readonly steps: readonly PlanStep[] }) {
  return (
    <Panel title={texts.plan.steps}>
      {steps.length === 0 ? <p className={styles.none}>{texts.plan.noSteps}</p> : null}
      <ol className={styles.steps}>
        {steps.map((step, at) => (
          // Steps have no name; their order is their identity.
          // biome-ignore lint/suspicious/noArrayIndexKey: the position is the identity
          <li key={at} className={styles.step}>
            <span className={styles.number}>{at + 1}</span>
            <strong className={styles.kind}>{wordsOf(step.kind)}</strong>
            <span className={styles.text}>{step.text}</span>
            {step.kind === 'start' && step.lowestReady === 0 ? null : (
              <span className={styles.ready}>{texts.plan.stays(step.lowestReady)}</span>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  )
}

function Effect({ plan }: { readonly plan: ShownPlan }) {
  const starts = startsOf(plan)
  const none = starts === 0 ? texts.plan.noEffects : texts.plan.starts(starts)
  return (
    <Panel title={texts.plan.effects}>
      <EffectsList effects={plan.effects} none={none} />
    </Panel>
  )
}

/** Defaults are counted and listed on request; every other alteration is listed. */
function Announced({ alterations }: { readonly alterations: readonly Alteration[] }) {
  if (alterations.length === 0) return null
  const defaults = alterations.filter(({ code }) => code === 'default_applied')
  const others = alterations.filter(({ code }) => code !== 'default_applied')
  return (
    <Panel title={texts.plan.announced}>
      {others.length === 0 ? null : (
        <ul className={`${styles.changes} ${styles.inset}`}>
          {others.map((alteration) => (
            <Altered key={`${alteration.code} ${alteration.field}`} alteration={alteration} />
          ))}
        </ul>
      )}
      {defaults.length === 0 ? null : (
        <details className={styles.defaults}>
          <summary>{texts.plan.defaults(defaults.length)}</summary>
          <ul>
            {defaults.map(({ field, to }) => (
              <li key={field}>
                <code>{field}</code> {showValue(to)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

const Altered = ({ alteration: { field, to, why } }: { readonly alteration: Alteration }) => (
  <li>
    <code>{field}</code> {showValue(to)}. {why}
  </li>
)
