export { fitRevisions, splitText } from './backup-parts.ts'
export { anchoredVersions, type RestoredPins, withAnchoredPins } from './restored-pins.ts'
