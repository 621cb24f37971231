// The text of a log line without colors and other controls of terminals.

/** Escape sequences of terminals, and any control character but the tab. */
const ESCAPES = /(?!\t)\p{Cc}(?:\[[0-9;?]*[ -/]*[@-~]|\][^\p{Cc}]*\p{Cc}\\?)?/gu

export const plainText = (text: string): string => text.replace(ESCAPES, '')
