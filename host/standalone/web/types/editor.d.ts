import type { Editor } from '../assets/editor/editor.js'
import type { Call } from '../assets/api.js'
import type { Entry, Unsaved } from '../assets/editor/unsaved.js'
import type { Draft } from './api.js'

/** What an editor needs of the page around it. */
export interface EditorHost {
  call: Call
  /** One for each page load. */
  editorId: string
  unsaved: Pick<Unsaved, 'write' | 'forget'>
  /** Whether somebody is at this draft's field. */
  engaged(editor: Editor): boolean
  /** What is shown of it may have changed. */
  changed(editor: Editor): void
  /** The editor itself changed the text. */
  wrote(editor: Editor): void
  created(editor: Editor, draft: Draft): void
  /** Its words are another draft now. */
  becameDraft(editor: Editor, oldId: string): void
  gone(editor: Editor): void
}

/** What an editor begins with. */
export interface Start {
  draftId: string
  /** The request that makes the draft; it is not there yet. */
  creating?: object
  /** What another page left unsaved. */
  left?: Entry
  /** Title and workspace only matter when its words become a new draft. */
  title?: string
  workspaceId?: string
}

/** What the page shows of an editor. */
export interface EditorState {
  save: 'opening' | 'saved' | 'saving' | 'not_saved'
  /** Why it is not saved, else ''. */
  code: string
  message: string
  retrying: boolean
  /** The draft was changed elsewhere and the field shows the older text. */
  elsewhere: boolean
  /** The conflict copy that holds this editor's text, else ''. */
  conflictId: string
  /** The draft file was replaced, and the draft went back to another text. */
  replaced: boolean
}
