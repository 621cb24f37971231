// The faults of a manifest: line, field, what is wrong, what is expected, the next step, why, and a link.

import { Panel } from '../../parts/panel.tsx'
import { faultTexts } from '../../texts/en/faults.ts'
import { texts } from '../../texts/en.ts'
import type { Fault } from './check-text.ts'
import styles from './editor.module.css'

interface Props {
  readonly faults: readonly Fault[]
  onGoTo(fault: Fault): void
}

export function FaultList({ faults, onGoTo }: Props) {
  return (
    <Panel title={texts.editor.faults(faults.length)}>
      <ol>
        {faults.map((fault) => (
          <li key={`${fault.start} ${fault.field} ${fault.what}`} className={styles.fault}>
            <button type="button" className={styles.line} onClick={() => onGoTo(fault)} data-row>
              {texts.editor.line(fault.line)}
            </button>
            <div className={styles.why}>
              <p>
                {fault.field === undefined || fault.field === '' ? null : (
                  <>
                    <code>{fault.field}</code>:{' '}
                  </>
                )}
                {fault.what}
              </p>
              <Details fault={fault} />
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

function Details({ fault: { expected, hint, why, doc } }: { readonly fault: Fault }) {
  return (
    <dl className={styles.details}>
      <Detail name={texts.editor.expected} text={expected} />
      <Detail name={texts.editor.hint} text={hint} />
      <Detail name={faultTexts.why} text={why} />
      {doc === undefined ? null : (
        <div>
          <dt className={styles.hidden}>{texts.editor.learn}</dt>
          <dd>
            <a href={doc}>{texts.editor.learn}</a>
          </dd>
        </div>
      )}
    </dl>
  )
}

function Detail({ name, text }: { readonly name: string; readonly text: string | undefined }) {
  if (text === undefined || text === '') return null
  return (
    <div>
      <dt>{name}:</dt> <dd>{text}</dd>
    </div>
  )
}
