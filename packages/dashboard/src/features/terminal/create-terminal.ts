// The emulated terminal: its element, its colors, and its size in characters.

import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'

const FONT_PX = 13
/** A terminal smaller than this is useless, and programs draw wrongly in it. */
const LEAST = { cols: 20, rows: 4 }

export interface Emulator {
  readonly terminal: Terminal
  /** Fits the number of characters to the size of the place. */
  fit(): void
  /** Reads the colors of the page again. */
  recolor(): void
}

export function createEmulator(place: HTMLElement, label: string): Emulator {
  const terminal = new Terminal({
    fontFamily: cssValue('--mono'),
    fontSize: FONT_PX,
    scrollback: 5_000,
    // Programs choose colors for a dark background; this keeps them readable on both.
    minimumContrastRatio: 4.5,
    screenReaderMode: true,
    theme: themeOf(),
  })
  withStyleNonce(() => terminal.open(place))
  terminal.textarea?.setAttribute('aria-label', label)
  return {
    terminal,
    fit: () => fit(terminal, place),
    recolor() {
      terminal.options.theme = themeOf()
    },
  }
}

const cssValue = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name)

const themeOf = () => ({
  background: cssValue('--surface'),
  foreground: cssValue('--text'),
  cursor: cssValue('--accent'),
  cursorAccent: cssValue('--surface'),
  selectionBackground: cssValue('--line-strong'),
})

function fit(terminal: Terminal, place: HTMLElement): void {
  const screen = place.querySelector('.xterm-screen')?.getBoundingClientRect()
  if (screen === undefined || screen.width === 0) return
  const [width, height] = [screen.width / terminal.cols, screen.height / terminal.rows]
  const cols = Math.max(LEAST.cols, Math.floor(place.clientWidth / width))
  const rows = Math.max(LEAST.rows, Math.floor(place.clientHeight / height))
  if (cols !== terminal.cols || rows !== terminal.rows) terminal.resize(cols, rows)
}

/**
 * Runs a function that inserts style elements. The content security policy accepts only those that have the nonce of the
 * page when they are inserted.
 */
function withStyleNonce(insert: () => void): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
  const create = document.createElement.bind(document)
  const value = (name: string): HTMLElement => {
    const element = create(name)
    if (name === 'style') element.nonce = nonce
    return element
  }
  Object.defineProperty(document, 'createElement', { value, configurable: true })
  try {
    insert()
  } finally {
    Reflect.deleteProperty(document, 'createElement')
  }
}
