// The editor for YAML or a router's configuration, with completion from the schema and diagnostics below the
// lines.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completionsAt } from "./schema.js";

const fromPage = Annotation.define();
const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.number, tags.bool], color: "var(--good)" },
]);
// All elements use the page's colors, so that dark mode needs no separate theme.
const theme = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--paper)", color: "var(--ink)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent-soft) 45%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-soft) !important" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)", maxWidth: "28rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--paper)" },
  ".cm-completionInfo": { whiteSpace: "pre-wrap" },
});

export class Editor {
  #language = new Compartment();

  constructor(parent, schema, onChange) {
    const isYaml = () => this.isYaml;
    this.isYaml = true;
    const complete = (context) => (isYaml() ? completionsAt(schema, context) : null);
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
          highlightActiveLine(), highlightSelectionMatches(), lintGutter(),
          autocompletion({ override: [complete], activateOnTyping: true }),
          // The Tab key moves the focus out of the editor, because users control the page with the keyboard.
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          this.#language.of(yaml()), syntaxHighlighting(colors), theme,
          EditorView.contentAttributes.of({ "aria-label": "Scenario or router configuration" }),
          EditorView.updateListener.of((update) => {
            const isTyped = !update.transactions.some((transaction) => transaction.annotation(fromPage));
            if (update.docChanged) onChange(this.text, isTyped);
          }),
        ],
      }),
    });
    // The scrolling element must be reachable with the keyboard, even if the text cannot have the focus.
    this.view.scrollDOM.tabIndex = 0;
  }

  get text() {
    return this.view.state.doc.toString();
  }
  set text(text) {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text }, annotations: fromPage.of(true),
    });
  }
  // Replaces a part of the text, as a slider does.
  replace(from, to, insert) {
    this.view.dispatch({ changes: { from, to, insert }, annotations: fromPage.of(true) });
  }
  set kind(kind) {
    if (this.isYaml === (kind !== "router")) return;
    this.isYaml = kind !== "router";
    this.view.dispatch({ effects: this.#language.reconfigure(this.isYaml ? yaml() : []) });
  }

  show(diagnostics) {
    const { doc } = this.view.state;
    const found = diagnostics.map(({ line, column, severity, message, help, router, rule }) => {
      const at = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
      const from = Math.min(at.from + Math.max((column ?? 1) - 1, 0), at.to);
      const words = /\S+/.exec(at.text.slice(from - at.from));
      const to = line && words ? Math.min(from + words.index + words[0].length, at.to) : at.to;
      const remedy = help ?? router;
      return {
        from, to: Math.max(to, from), source: typeof rule === "string" ? rule : rule?.id,
        severity: severity === "note" ? "info" : severity,
        message: remedy ? `${message}\n${remedy}` : message,
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }
}
