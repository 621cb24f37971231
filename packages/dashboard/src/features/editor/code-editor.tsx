// The text field of a manifest: CodeMirror with YAML colors, line numbers, and a mark at each fault. Its style elements carry
// the nonce of the page, because the content security policy allows no others.

import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { minimalSetup } from 'codemirror'
import { type RefObject, useEffect, useRef } from 'react'
import { texts } from '../../texts/en.ts'
import type { Fault } from './check-text.ts'
import styles from './editor.module.css'

export interface EditorHandle {
  goTo(offset: number): void
}

interface Props {
  readonly initial: string
  readonly faults: readonly Fault[]
  readonly handle: RefObject<EditorHandle | null>
  onChange(text: string): void
}

const COLORS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.meta], color: 'var(--muted)' },
])

const THEME = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', maxHeight: '60vh' },
  '.cm-content, .cm-gutter': { minHeight: '320px' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--muted)', border: 'none' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--accent-weak)' },
  // The marks of CodeMirror are data: images, which the content security policy rejects.
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-lint-marker-error': {
    content: 'normal',
    width: '10px',
    height: '10px',
    backgroundColor: 'var(--bad)',
    clipPath: 'polygon(50% 0, 100% 50%, 50% 100%, 0 50%)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    maxWidth: '60ch',
  },
})

const nonceOf = (): string =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

export function CodeEditor({ initial, faults, handle, onChange }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor keeps its own text after the first
  useEffect(() => {
    if (place.current === null) return
    const created = createView(place.current, initial, (text) => changed.current(text))
    view.current = created
    handle.current = { goTo: (offset) => goTo(created, offset) }
    return () => {
      handle.current = null
      view.current = null
      created.destroy()
    }
  }, [])
  useEffect(() => {
    if (view.current !== null) showFaults(view.current, faults)
  }, [faults])
  return <div ref={place} className={styles.code} />
}

function createView(parent: HTMLElement, doc: string, onText: (text: string) => void): EditorView {
  const extensions = [
    minimalSetup,
    lineNumbers(),
    lintGutter(),
    yaml(),
    syntaxHighlighting(COLORS),
    THEME,
    EditorView.lineWrapping,
    EditorView.cspNonce.of(nonceOf()),
    EditorView.contentAttributes.of({
      'aria-label': texts.editor.manifest,
      spellcheck: 'false',
      tabindex: '0',
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onText(update.state.doc.toString())
    }),
  ]
  return new EditorView({ parent, state: EditorState.create({ doc, extensions }) })
}

/** Marks the faults that lie in the present text, which may be newer than the faults. */
function showFaults(view: EditorView, faults: readonly Fault[]): void {
  const { length } = view.state.doc
  const marks = faults.map(({ start, end, what }) => ({
    from: Math.min(start, length),
    to: Math.min(Math.max(end, start), length),
    severity: 'error' as const,
    message: what,
  }))
  view.dispatch(setDiagnostics(view.state, marks))
}

function goTo(view: EditorView, offset: number): void {
  const anchor = Math.min(offset, view.state.doc.length)
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
  view.focus()
}
